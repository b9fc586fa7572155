// Package child implements the parts of the benchmark that run in child processes: the
// servers that the exchange is compared with, buyers, webhook endpoints, clients, and the
// measurements that need an empty heap.
//
// A child reads a specification in JSON from standard input. A measurement or a client
// writes its result in JSON to standard output and ends. A server writes its Addresses
// and runs until the standard input ends.
package child
