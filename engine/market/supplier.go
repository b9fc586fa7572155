package market

// Supplier sends leads. Its credentials are state, not catalog: they outlive
// every configuration.
type Supplier struct {
	Ref  Ref
	ID   SupplierID
	Name string

	IngestRate         int // leads a second, burst the same
	PingRate           int // pings a second, burst the same
	ConcurrentAuctions int // open auctions at once

	Hooks *Endpoint // where it hears of its leads; nil: nowhere. Its Credential signs, and is never sent
	Test  bool      // every lead of it is a test lead
}
