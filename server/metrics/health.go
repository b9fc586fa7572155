package metrics

// HealthOf classifies a buyer by its recent pings and posts: idle, good, slow or failing.
func HealthOf(lately *BuyerReading) string {
	unanswered := lately.Timeouts + lately.errors
	percentile, known := lately.Pings.Quantile(0.99)
	switch {
	case lately.Asked == 0 && lately.Posts == 0 && lately.Sales == 0:
		return "idle"
	case 2*unanswered >= lately.Asked && lately.Asked > 0, 2*lately.failed >= lately.Posts && lately.Posts > 0:
		return "failing"
	case lately.Asked >= minAnswers && (20*unanswered >= lately.Asked || known && percentile >= slowBuyer),
		lately.Posts >= minAnswers && 20*lately.failed >= lately.Posts:
		return "slow"
	}
	return "good"
}

// minAnswers is the number of pings or posts from which a buyer can be slow. Among fewer,
// one bad answer would already exceed one in twenty.
const minAnswers = 20

// slowBuyer is the limit for the 99th percentile of ping times, in milliseconds: half of
// the default auction time.
const slowBuyer = 1000
