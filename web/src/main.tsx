import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app';
import { adoptFromPeers } from './lib/session';
import './styles.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html lacks its root element');
void adoptFromPeers().then(() =>
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
);
