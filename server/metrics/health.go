package metrics

// RateBuyerHealth rates a buyer by its counts of the last minutes: "idle", "good", "slow" or "failing".
// "failing" means that at least half of its pings or posts failed. "slow" means that at least one in
// twenty failed, or that its pings are as slow as slowBuyer. It needs minAnswers pings or posts.
func RateBuyerHealth(recent *BuyerReading) (idleGoodSlowOrFailing string) {
	unanswered := recent.Timeouts + recent.errors
	percentile, known := recent.Pings.Quantile(0.99)
	switch {
	case recent.Asked == 0 && recent.Posts == 0 && recent.Sales == 0:
		return "idle"
	case 2*unanswered >= recent.Asked && recent.Asked > 0, 2*recent.failed >= recent.Posts && recent.Posts > 0:
		return "failing"
	case recent.Asked >= minAnswers && (20*unanswered >= recent.Asked || known && percentile >= slowBuyer),
		recent.Posts >= minAnswers && 20*recent.failed >= recent.Posts:
		return "slow"
	}
	return "good"
}

// minAnswers is the number of pings or posts from which a buyer can be rated slow. With fewer,
// one bad answer would already be more than one in twenty.
const minAnswers = 20

// slowBuyer is the 99th percentile of ping times, in milliseconds, from which a buyer is rated
// slow. It is half of the default auction time.
const slowBuyer = 1000
