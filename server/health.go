package server

// health is how a buyer has lately been to those who asked it and posted to it.
func health(lately *buyerReading) string {
	slow, known := lately.pings.quantile(0.99)
	switch {
	case lately.asked == 0 && lately.posts == 0:
		return "idle"
	case 2*(lately.timeouts+lately.errors) >= lately.asked && lately.asked > 0, 2*lately.failed >= lately.posts && lately.posts > 0:
		return "failing"
	case 20*(lately.timeouts+lately.errors) >= lately.asked && lately.asked > 0, 20*lately.failed >= lately.posts && lately.posts > 0, known && slow >= slowBuyer:
		return "slow"
	}
	return "good"
}

// slowBuyer is how many milliseconds one ping in a hundred may take: half of what an
// auction waits for by itself.
const slowBuyer = 1000
