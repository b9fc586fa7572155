package webhook

// tempo spreads the beginnings of attempts out. Ten thousand events may fall due at
// one instant, and would have the processor to themselves for as long as they take;
// the leads that come meanwhile would wait behind them.
//
// An attempt may begin up to slack before its turn, so that a few at once all begin at
// once, and a timer that is late costs nothing.
type tempo struct {
	rate int64 // beginnings a second; zero: as they come
	turn int64 // of the next one, Unix nanoseconds
}

const (
	second = int64(1_000_000_000)
	slack  = second / 100
)

// early is when the next one may begin, where that is after now; else zero.
func (t *tempo) early(now int64) int64 {
	if t.rate == 0 || t.turn-slack <= now {
		return 0
	}
	return t.turn - slack
}

// begin takes the turn. What was not used in the past is no credit.
func (t *tempo) begin(now int64) {
	if t.rate > 0 {
		t.turn = max(t.turn, now) + second/t.rate
	}
}
