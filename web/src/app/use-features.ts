import { createContext, useContext } from 'react';
import { Features } from './features';

export const FeaturesContext = createContext(new Features([]));

export const useFeatures = (): Features => useContext(FeaturesContext);
