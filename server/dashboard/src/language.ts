// uPlot formats numbers in the browser's language as soon as it is loaded, and Intl throws for
// an invalid language tag such as en-US@posix. This module is imported before all others and
// replaces such a tag with English, the language of the page.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
