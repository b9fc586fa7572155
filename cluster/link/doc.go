// Package link connects the nodes of a cluster. Each connection begins with a handshake in which both
// nodes prove that they have the exchange's key, and show their identities. A node refuses another exchange,
// another cluster, and a node that must not take part: one with an old copy of its data, a second one with the
// same id, or one that is no member.
//
// # The handshake
//
// Integers are little-endian. Both ends send an opening, the dialer first. The dialer then sends its hello with a
// proof. The other end answers with one byte, 0 if the proof is right, and with its own hello and proof. Then
// both send a verdict. A wrong proof, or a refusal, ends the connection: an end without the exchange's key gets
// no hello of the end that it dialed.
//
//	opening:
//	 0      4         5
//	+------+---------+------------------+
//	| PPC2 | purpose | nonce (32 bytes) |
//	+------+---------+------------------+
//
//	purpose   of the connection: Raft or requests
//
//	hello, with the sizes in bytes:
//
//	id          1 + …  its length and the id of the sender in the configuration
//	receiver    1 + …  the same of the receiver
//	data           16  a random number that was created with the node's data
//	starts          8  the number of starts of the node with this data
//	run             8  a random number of this start
//	exchange       16  the random number in the first log entry
//	cluster        16  id of the cluster (package clusterid); zero if the node is in none yet
//	heartbeat       8  timeout in nanoseconds; Raft connections require the same one
//	position       24  before this start: the last Raft index, the term, and the term of the last vote
//
//	proof: HMAC-SHA256, see prover
//
//	verdict: one byte (0 accepted, 1 refused, 2 refused, and the node must stop), a length of two bytes,
//	and that many bytes of text
package link
