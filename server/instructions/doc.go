// Package instructions writes posting instructions: all that a supplier's engineer needs to send leads
// to one campaign. It also makes the links under which a supplier reads them without an account.
//
// Build derives a Document from the compiled catalog and from the code that answers requests. So
// the fields, rules, samples and answers are those of the running exchange. Sections turns it into
// headings, paragraphs, tables and code, which Markdown, HTML and PDF render.
//
// A document has the data of one supplier and one campaign. It has no buyers, no prices, no
// payouts and no secrets. Of a credential its JSON form, for operators, has the hint. The other
// forms, which anyone with the link can read, have no part of a secret.
package instructions
