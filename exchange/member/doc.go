// Package member is an exchange's membership in a cluster: it opens the connections to the other nodes
// (cluster/link) and starts this node (cluster). A new node first copies the data of another one
// (cluster/datacopy).
//
// The exchange gives it the log, the state and the roles. The files of the membership are in the folder
// "cluster" of the data directory.
package member
