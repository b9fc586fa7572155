package admin

import (
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/ledger"
	"pingpost/server/servertest"
)

// Named periods follow the exchange's clock, which can be ahead of the machine's after a clock step.
func TestNamedPeriodsFollowTheExchangesClock(t *testing.T) {
	o, _ := newStatementOperator(t)
	l := &accountsFixture{stubOperator: *o, t: t}
	l.clockAhead.Store(int64(400 * 24 * time.Hour))
	sum, requested := o.sum, ledger.Period{}
	l.sum = func(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
		requested = period
		return sum(party, period)
	}
	isThisMonth := func(from, to int64) bool { return from <= l.Now() && l.Now() < to }

	l.admin = newAdmin(t, l)
	l.address = servertest.StartServer(t, l.admin.Serve, l.admin.Shutdown)
	if got := l.send("GET /admin/v1/statement?buyer=buy_blue&period=this_month", servertest.BasicAuth, ""); got.status != 200 || !isThisMonth(requested.From, requested.To) {
		t.Errorf("a statement: %d, period %+v", got.status, requested)
	}

	var ctx fasthttp.RequestCtx
	ctx.QueryArgs().Set("period", "this_month")
	if s := l.admin.newSearchParameterParser(&ctx).readCommonParameters(); !isThisMonth(s.From, s.To) {
		t.Errorf("a search: from %d to %d", s.From, s.To)
	}
}
