package schema

// SuppressionList is a suppression list: people that buyers must not contact. The file gives only the
// initial entries. Later changes are made in the exchange.
type SuppressionList struct {
	ID    string `json:"id"`
	Field string `json:"field"`
	Hash  string `json:"hash"`
	File  string `json:"file,omitempty"` // relative to the document's file
}

func (l *SuppressionList) fillDefaults() { setDefault(&l.Hash, "plain") }
