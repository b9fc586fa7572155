// Package clusterapi has the operations of the admin API on the nodes of a cluster: status, adding and
// removing a node, and the hand-over to another leader.
package clusterapi
