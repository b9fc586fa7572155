// Package crash makes the receipt of a lead uncertain at its first buyer, in every combination
// of a failed send, an answer to the repeat, a kind of connection and a kind of request. The
// exchange is the real program, and the buyers answer on raw sockets. In a quarter of the
// combinations the exchange is killed between the sends. No lead may reach a second buyer.
package crash
