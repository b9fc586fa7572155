package schema

// Cluster makes this exchange a node of a cluster. Its nodes keep the same log, and one of them leads.
type Cluster struct {
	Node   string            `json:"node"`            // id of this node
	Listen string            `json:"listen"`          // address for the other nodes
	Peers  map[string]string `json:"peers,omitempty"` // address of each node by its id, with this node
	TLS    *ClusterTLS       `json:"tls,omitempty"`   // of the connections between nodes
}

// ClusterTLS names the certificate and the key that this node shows to the others, and the authority
// that signed the certificates of all nodes. The files are in PEM and relative to the document's file.
type ClusterTLS struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	Authority   string `json:"authority"`
}
