// Package fakedata makes up sales leads: people who do not exist, at real places. It uses no
// clock and no other source of chance than the seed: equal requests give equal leads, to the
// byte and on every machine.
//
// No data in a lead belongs to a real person. Phone numbers end in 555-0100 to 555-0199, which
// are reserved for fiction. Internet addresses are those reserved for documentation. E-mail
// addresses are at example.com. State, town, ZIP code and area code fit each other, and so do
// birth date, age band, and the vehicles with their number. So filters and state lists behave
// as with real leads.
//
// The sandbox hands out these leads, and the admin API makes its example requests from them.
package fakedata
