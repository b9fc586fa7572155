// Package webhook tells suppliers of their leads: it drains the outbox.
//
// What is owed lies in the outbox, which is part of the logged state, and what an
// attempt came to is a fact that the engine logs. In between is this package,
// and it remembers nothing that a crash could take: a Sender says whose turn it is
// (see Sender), and a Client makes one attempt and has one honest word about it.
// An event whose attempt was not logged is told again, with the same id.
//
// Addresses are reached by package dial, by the rules that hold for buyers: where
// an endpoint may live, no redirects, a deadline for all of it.
package webhook
