package exchange

import (
	"pingpost/engine/ledger"
	"pingpost/exchange/statement"
	"pingpost/server/admin"
)

// Statement returns a party's account statement: see statement.Reader.
func (x *Exchange) Statement(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	return x.statements().Statement(party, period)
}

// Entries reads a statement's entries from the log, one after the other.
func (x *Exchange) Entries(s *ledger.Statement) (admin.Entries, error) {
	entries, err := x.statements().Entries(s)
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func (x *Exchange) statements() *statement.Reader {
	return statement.NewReader(statement.Options{Log: x.log, State: x.state, Now: x.clock.Now, Stop: &x.draining})
}
