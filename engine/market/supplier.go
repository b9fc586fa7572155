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
}
