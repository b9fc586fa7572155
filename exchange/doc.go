// Package exchange joins the parts into one running exchange: a configuration,
// the log, the state replayed from it, the engine, the doors. It is the only
// place that knows them all, and it decides nothing.
//
// A process may run several, one a tenant. They share nothing.
package exchange
