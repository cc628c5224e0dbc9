import { conformSimulation } from './lab/simulation';

jest.setTimeout(30_000);
conformSimulation('v53');
