package refbuyer

import "time"

// Disturb sets a little of everything that can go wrong, where the options say
// nothing: no-bids, refusals, failures, nonsense, tokens that die early, a
// limit of the rate, and answers that are slow or never come.
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
