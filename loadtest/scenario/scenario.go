package scenario

import "time"

// Scenario is a load test.
type Scenario struct {
	Name      string       `yaml:"name"`
	About     string       `yaml:"about"`     // one sentence
	Kinds     map[Kind]int `yaml:"kinds"`     // what comes, by weight
	Phases    []Phase      `yaml:"phases"`    // one after the other
	InFlight  int          `yaml:"in_flight"` // requests under way at once, at most; 2,000
	Supplier  Supplier     `yaml:"supplier"`
	Campaigns []Campaigns  `yaml:"campaigns"`
	Buyers    []Buyers     `yaml:"buyers"`
	Webhooks  *Webhooks    `yaml:"webhooks"` // nil: the supplier has none
	Limits    Limits       `yaml:"limits"`
}

// Kind is what somebody who comes does.
type Kind string

// The kinds: a lead by ingest; a ping; a ping whose bid, if there is one, is taken
// up by a post at once.
const (
	Ingest   Kind = "ingest"
	Ping     Kind = "ping"
	PingPost Kind = "pingpost"
)

// Kinds are all of them, in the order in which they are told.
var Kinds = []Kind{Ingest, Ping, PingPost}

// Arrival is how arrivals follow each other.
type Arrival string

// Arrivals at even intervals, or each independent of all others.
const (
	Fixed   Arrival = "fixed"
	Poisson Arrival = "poisson"
)

// Phase is a stretch of the test at one rate.
type Phase struct {
	Name    string        `yaml:"name"`
	For     time.Duration `yaml:"for"`
	Rate    float64       `yaml:"rate"`    // arrivals a second
	Arrival Arrival       `yaml:"arrival"` // poisson
	Warmup  bool          `yaml:"warmup"`  // not measured
	Apart   bool          `yaml:"apart"`   // measured and shown, but no limit of latency holds in it
}

// Supplier is what the exchange allows the one who sends, a second.
type Supplier struct {
	IngestRate int `yaml:"ingest_rate"` // also of posts; a million
	PingRate   int `yaml:"ping_rate"`   // a million
}

// Campaigns are so many of one kind.
type Campaigns struct {
	Count      int    `yaml:"count"`      // 1
	Method     string `yaml:"method"`     // ping_post, waterfall, round_robin or weighted
	Seats      int    `yaml:"seats"`      // of the buyers; all of them
	Duplicates bool   `yaml:"duplicates"` // looks for them, by phone and e-mail
}

// PingPostMethod is that of campaigns that hold auctions.
const PingPostMethod = "ping_post"

// Buyers are so many that behave alike.
type Buyers struct {
	Count       int     `yaml:"count"`        // 1
	Recorded    bool    `yaml:"recorded"`     // without an endpoint: leads are only recorded
	Bid         string  `yaml:"bid"`          // what they bid, or pay: 10
	Latency     string  `yaml:"latency"`      // of their answers
	PostLatency string  `yaml:"post_latency"` // of those to posts; as above
	NoBid       float64 `yaml:"no_bid"`       // share of pings that they pass
	Reject      float64 `yaml:"reject"`       // share of posts that they refuse
	Fail        float64 `yaml:"fail"`         // share of attempts to post that they answer with 500
	PingRate    int     `yaml:"ping_rate"`    // pings a second that the exchange may send each; a million
	Caps        bool    `yaml:"caps"`         // has a cap, which is not reached
}

// Webhooks are heard by a receiver.
type Webhooks struct {
	Latency  string        `yaml:"latency"`   // of its answers
	InFlight int           `yaml:"in_flight"` // attempts under way at once; 64
	Within   time.Duration `yaml:"within"`    // of the last lead, all have to be heard; 30 s
}

// Limits are what has to be held. A share is of what came in the measured phases.
// Beside them it is always held that nothing is lost or sold twice, that every
// refusal says when to come again, and that the client was never at the end of its
// connections.
type Limits struct {
	Latency  map[Timed]Quantiles `yaml:"latency"`
	Errors   float64             `yaml:"errors"`  // share that broke or was answered what it should not; 0
	Refused  float64             `yaml:"refused"` // share answered 429 or 503; 0
	Unsold   float64             `yaml:"unsold"`  // share that nobody bought; 0
	Late     time.Duration       `yaml:"late"`    // p99 of how late the client itself began; 20 ms
	Recovery *Recovery           `yaml:"recovery"`
	Ratios   []Ratio             `yaml:"ratios"`
}

// Timed is what is timed.
type Timed string

// What is timed: an ingest, a ping and a sale from when the arrival was due to the
// last answer; a post from when it was sent.
const (
	TimedIngest Timed = "ingest"
	TimedPing   Timed = "ping"
	TimedPost   Timed = "post"
	TimedSale   Timed = "sale"
)

// AllTimed are all of them, in the order in which they are told.
var AllTimed = []Timed{TimedIngest, TimedPing, TimedPost, TimedSale}

// Quantiles are limits of a latency; 0 is none.
type Quantiles struct {
	P50  time.Duration `yaml:"p50"`
	P99  time.Duration `yaml:"p99"`
	P999 time.Duration `yaml:"p999"`
	Max  time.Duration `yaml:"max"`
}

// Recovery says how soon after a phase the p99 is to be what it was in another.
type Recovery struct {
	Latency Timed         `yaml:"latency"`
	After   string        `yaml:"after"` // the phase from whose end time counts
	Like    string        `yaml:"like"`  // the phase whose p99 is the normal one
	Within  time.Duration `yaml:"within"`
	Times   float64       `yaml:"times"` // how many times the normal is normal; 1.5
	Or      time.Duration `yaml:"or"`    // what is normal in any case
}

// Ratio compares a quantile of two phases.
type Ratio struct {
	Latency Timed   `yaml:"latency"`
	At      float64 `yaml:"at"` // percentile; 99
	Phase   string  `yaml:"phase"`
	To      string  `yaml:"to"`
	Most    float64 `yaml:"most"`
}
