// Package trial carries a scenario out against an exchange: it sends what the
// scenario says when it says, takes down what came back and when, asks the exchange
// where the time went and the buyers what they have, and holds all of it against the
// scenario's limits.
//
// It starts nothing. Whoever calls it says where the exchange is, who its buyers
// are, and by which credentials.
package trial
