package projection

// LatencyKey identifies one latency histogram: quarter of an hour, supplier, buyer, campaign,
// and ping or post.
type LatencyKey struct {
	Key  SumDimensionValues // quarter, supplier, buyer and campaign
	Kind LatencyKind
}

// LatencyRowPrimaryKey is the primary key of a latency histogram in the database: grouping, unit
// of time, its number, and the parties.
type LatencyRowPrimaryKey struct {
	Grouping DimensionColumnSet
	Unit     int64
	Start    int64      // in units
	Key      LatencyKey // without its quarter
}

type LatencyKind uint8

const (
	PingLatency LatencyKind = 1 // from the ping to the buyer's answer
	PostLatency LatencyKind = 2 // of a post's last attempt, if it was answered
)
