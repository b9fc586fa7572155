package refbuyer

import "time"

// Disturb sets a small share of every fault for which the options have no value: no-bids,
// rejections, failures, malformed answers, tokens that expire early, a rate limit, and
// answers that are slow or never arrive.
func (o *Options) Disturb() {
	fill(&o.NoBidRate, 0.1)
	fill(&o.RejectRate, 0.03)
	fill(&o.FailRate, 0.03)
	fill(&o.MalformedRate, 0.05)
	fill(&o.MalformedPostRate, 0.02)
	fill(&o.ExpireEarly, 0.25)
	fill(&o.PingsASecond, 100)
	if o.Latency == nil {
		o.Latency = Hanging{0.005, LogNormal{20 * time.Millisecond, 0.7}}
	}
	if o.PostLatency == nil {
		o.PostLatency = Hanging{0.002, LogNormal{20 * time.Millisecond, 0.5}}
	}
}
