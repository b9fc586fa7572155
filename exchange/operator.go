package exchange

import (
	"pingpost/engine"
	"pingpost/engine/ledger"
	"pingpost/exchange/statement"
	"pingpost/keys/token"
	"pingpost/server/admin"
)

// Ready is nil once requests are taken.
func (x *Exchange) Ready() error {
	switch {
	case x.draining.Load():
		return errDraining
	case !x.ready.Load(): // before it is, nothing else of x may be looked at
		return errStarting
	case x.log.Err() != nil:
		return errLogFailed
	}
	return nil
}

// Engine is nil until the log has been replayed, and once the exchange stops.
func (x *Exchange) Engine() *engine.Engine {
	if !x.ready.Load() || x.draining.Load() {
		return nil
	}
	return x.engine.Load()
}

// Hash is the state's hash, taken between two batches of the log.
func (x *Exchange) Hash() (seq, hash uint64, err error) {
	if err := x.Ready(); err != nil {
		return 0, 0, err
	}
	err = x.log.Do(func(uint64, int64) { seq, hash = x.state.Hash() })
	return seq, hash, err
}

// Standing is how the process stands.
func (x *Exchange) Standing() admin.ProcessStatus {
	seq, _ := x.log.Durable()
	return admin.ProcessStatus{Tenant: x.settings.Tenant, Version: x.options.Version, Since: x.started, Seq: seq, DiskFree: x.disk.free.Load()}
}

// Now is the exchange's own time.
func (x *Exchange) Now() int64 { return x.clock.Now() }

// Seal seals a secret that the exchange presents.
func (x *Exchange) Seal(name, value string) []byte { return x.vault.Seal(name, value) }

// Reveal opens a secret that the exchange presents.
func (x *Exchange) Reveal(name string) (string, bool) { return x.openSecret(name) }

// Tokens hashes the secrets that are presented to the exchange.
func (x *Exchange) Tokens() *token.Mint { return x.tokens }

// Sandbox tells whether this is one.
func (x *Exchange) Sandbox() bool { return x.settings.Sandbox }

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
