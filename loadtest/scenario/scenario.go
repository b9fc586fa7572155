package scenario

import "time"

// Scenario is a load test.
type Scenario struct {
	Name      string       `yaml:"name"`
	About     string       `yaml:"about"`     // one sentence
	Kinds     map[Kind]int `yaml:"kinds"`     // weights of the request kinds
	Phases    []Phase      `yaml:"phases"`    // one after the other
	InFlight  int          `yaml:"in_flight"` // concurrent requests, at most; default 2,000
	Supplier  Supplier     `yaml:"supplier"`
	Campaigns []Campaigns  `yaml:"campaigns"`
	Buyers    []Buyers     `yaml:"buyers"`
	Webhooks  *Webhooks    `yaml:"webhooks"` // nil: no webhooks
	Limits    Limits       `yaml:"limits"`
}

// Kind is a kind of request.
type Kind string

// The kinds are a lead by ingest, a ping, and a ping with an immediate post if there is a
// bid.
const (
	Ingest   Kind = "ingest"
	Ping     Kind = "ping"
	PingPost Kind = "pingpost"
)

// Kinds lists all kinds in the order of reports.
var Kinds = []Kind{Ingest, Ping, PingPost}

// Arrival is the pattern of arrivals.
type Arrival string

// Arrivals have even intervals or are independent of each other.
const (
	Fixed   Arrival = "fixed"
	Poisson Arrival = "poisson"
)

// Phase is a part of the test with one rate.
type Phase struct {
	Name    string        `yaml:"name"`
	For     time.Duration `yaml:"for"`
	Rate    float64       `yaml:"rate"`    // arrivals a second
	Arrival Arrival       `yaml:"arrival"` // default poisson
	Warmup  bool          `yaml:"warmup"`  // not measured
	Apart   bool          `yaml:"apart"`   // measured and shown, but without latency limits
}

// Supplier has the rate limits of the supplier, a second.
type Supplier struct {
	IngestRate int `yaml:"ingest_rate"` // also for posts; default a million
	PingRate   int `yaml:"ping_rate"`   // default a million
}

// Campaigns is a group of equal campaigns.
type Campaigns struct {
	Count      int    `yaml:"count"`      // default 1
	Method     string `yaml:"method"`     // ping_post, waterfall, round_robin or weighted
	Seats      int    `yaml:"seats"`      // number of buyers; default all
	Duplicates bool   `yaml:"duplicates"` // checks for duplicates by phone and e-mail
}

// PingPostMethod is the method of campaigns with auctions.
const PingPostMethod = "ping_post"

// Buyers is a group of buyers with the same behaviour.
type Buyers struct {
	Count       int     `yaml:"count"`        // default 1
	Recorded    bool    `yaml:"recorded"`     // without an endpoint: leads are only recorded
	Bid         string  `yaml:"bid"`          // bid or price; default 10
	Latency     string  `yaml:"latency"`      // response time
	PostLatency string  `yaml:"post_latency"` // response time of posts; default latency
	NoBid       float64 `yaml:"no_bid"`       // share of pings without a bid
	Reject      float64 `yaml:"reject"`       // share of rejected posts
	Fail        float64 `yaml:"fail"`         // share of post attempts answered with 500
	PingRate    int     `yaml:"ping_rate"`    // pings a second that the exchange may send to each; default a million
	Caps        bool    `yaml:"caps"`         // with a cap that is not reached
}

// Webhooks configures the webhook receiver.
type Webhooks struct {
	Latency  string        `yaml:"latency"`   // response time
	InFlight int           `yaml:"in_flight"` // concurrent attempts; default 64
	Within   time.Duration `yaml:"within"`    // after the last answer, all webhooks must have arrived; default 30 s
}

// Limits are the conditions for passing. Shares refer to the measured phases. A test also
// requires that no lead is lost or sold twice, that every refusal has Retry-After, and
// that the client always had an idle connection.
type Limits struct {
	Latency  map[Timed]Quantiles `yaml:"latency"`
	Errors   float64             `yaml:"errors"`  // share of connection errors and unexpected answers; default 0
	Refused  float64             `yaml:"refused"` // share of answers 429 and 503; default 0
	Unsold   float64             `yaml:"unsold"`  // share of unsold leads; default 0
	Late     time.Duration       `yaml:"late"`    // p99 of the client's own delay; default 20 ms
	Recovery *Recovery           `yaml:"recovery"`
	Ratios   []Ratio             `yaml:"ratios"`
}

// Timed is a measured latency.
type Timed string

// The latencies of an ingest, a ping and a sale count from the arrival's due time to the
// last answer. The latency of a post counts from its sending.
const (
	TimedIngest Timed = "ingest"
	TimedPing   Timed = "ping"
	TimedPost   Timed = "post"
	TimedSale   Timed = "sale"
)

// AllTimed lists all latencies in the order of reports.
var AllTimed = []Timed{TimedIngest, TimedPing, TimedPost, TimedSale}

// Quantiles are limits of a latency; 0 means no limit.
type Quantiles struct {
	P50  time.Duration `yaml:"p50"`
	P99  time.Duration `yaml:"p99"`
	P999 time.Duration `yaml:"p999"`
	Max  time.Duration `yaml:"max"`
}

// Recovery limits the time after a phase until the p99 is as in another phase.
type Recovery struct {
	Latency Timed         `yaml:"latency"`
	After   string        `yaml:"after"` // phase after which the time counts
	Like    string        `yaml:"like"`  // phase with the normal p99
	Within  time.Duration `yaml:"within"`
	Times   float64       `yaml:"times"` // allowed multiple of the normal p99; default 1.5
	Or      time.Duration `yaml:"or"`    // a p99 up to this value is always normal
}

// Ratio compares a quantile of two phases.
type Ratio struct {
	Latency Timed   `yaml:"latency"`
	At      float64 `yaml:"at"` // percentile; default 99
	Phase   string  `yaml:"phase"`
	To      string  `yaml:"to"`
	Most    float64 `yaml:"most"`
}
