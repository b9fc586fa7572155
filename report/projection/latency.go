package projection

// pace is what the times that buyers take are told apart by.
type LatencyKey struct {
	Key  SumKey // its quarter and its parties
	Kind LatencyKind
}

// paceAt is where they are kept.
type LatencyPosition struct {
	Grouping Grouping
	Unit     int64
	Start    int64      // in units
	Key      LatencyKey // without its quarter
}

type LatencyKind uint8

const (
	PingLatency LatencyKind = 1 // from the ping to the buyer's answer
	PostLatency LatencyKind = 2 // of a post's last try, where an answer came
)
