import './language';
import './style/base.css';
import './style/shell.css';
import './style/part.css';
import './style/draw.css';
import { render } from 'preact';
import { App } from './app';
import { kept, show } from './theme';

show(kept());
const place = document.getElementById('page');
if (place) render(<App />, place);
