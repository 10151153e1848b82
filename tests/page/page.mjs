// page.mjs -- the tests of the page, with one browser.
import './texts.mjs';
import './overview.mjs';
import './opening.mjs';
import './conversation.mjs';
import './steering.mjs';
import './live.mjs';
import './hostile.mjs';
import './access.mjs';
import './questions.mjs';
