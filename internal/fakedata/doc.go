// Package fakedata makes up sales leads: people who do not exist, at places that
// do. It knows no clock and no chance: all that is in a lead, its times too,
// follows from the request for it, to the byte and on every machine.
//
// Nothing in a lead belongs to anyone. Phone numbers end in 555-0100 to
// 555-0199, which are kept for fiction; addresses on the internet are those
// kept for documentation; e-mail is at example.com. State, town, ZIP code and
// area code belong together, and so do a birth date, an age band and the number
// of vehicles with the vehicles, so that filters and state lists meet what they
// would meet in earnest.
//
// A sandbox tenant hands such leads out, and the load generator and the
// demonstration are made of the same people, places and verticals.
package fakedata
