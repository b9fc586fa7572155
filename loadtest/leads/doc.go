// Package leads makes up sales leads: people who do not exist, at places that
// do. The same options give the same leads, byte for byte, on every machine.
//
// Nothing in them belongs to anyone: phone numbers end in 555-0100 to 555-0199,
// which are kept for fiction, and e-mail is at example.com and its siblings.
// State, city, ZIP code and area code belong together, so that filters and
// state lists meet what they would meet in earnest.
//
// A share of the leads can be made wrong, each in one known way, and a share
// can repeat a person who came before. What a lead is beside its text stands in
// its other fields, so that whoever sends it knows what to expect.
package leads
