// Package engine holds the exchange's verbs, one a file: what is done with a
// lead from its arrival to its buyer, and what an operator may change.
//
// A verb decides in memory, side by side with others, holding reservations; it
// hands the fact it decided to the log; the log's committer makes it durable,
// applies it and wakes the verb, which only then answers. Nothing is told to
// anyone before it is durable, and nothing is sent to a buyer before the intent
// to send it is.
//
// The package reads no clock, draws no random number and opens no socket or
// file: all that comes through the ports, so that days of an exchange run in
// milliseconds in a test.
package engine
