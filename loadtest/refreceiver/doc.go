// Package refreceiver is the reference receiver of webhooks: an endpoint that
// verifies what comes as a supplier should, and answers as it was told to. Load
// tests have themselves told there, developers try an exchange against it, and
// tests ask it afterwards what really came.
//
// It is a witness, so it shares nothing with the sender but what a secret looks
// like: signatures are made anew here, in both forms, and both have to be right.
// What fails by chance is a hash of the seed, the event's id and the number of the
// attempt: the same deliveries meet the same fate in any order.
//
// Of each event it remembers the id and how often it came, and of the first so
// many the body as well; /events lists them. A delivery that does not verify is
// counted, and remembered in no other way.
package refreceiver
