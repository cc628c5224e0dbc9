import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app';
import { allFeatures } from './features/all-features';
import { watchNetwork } from './lib/reachability';
import { adoptFromPeers } from './lib/session';
import './styles.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html lacks its root element');
watchNetwork();
void adoptFromPeers().then(() =>
  createRoot(root).render(
    <StrictMode>
      <App features={allFeatures} />
    </StrictMode>,
  ),
);
