// Package trial runs a scenario against an exchange. It sends the scenario's requests on
// schedule and records the answers. It samples the exchange's metrics and asks the buyers
// for their leads. Then it compares all of it with the scenario's limits.
//
// It starts no server. The caller provides the addresses of the exchange and the buyers,
// and the credentials.
package trial
