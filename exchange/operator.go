package exchange

import (
	"errors"

	"pingpost/engine"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/exchange/explain"
	"pingpost/exchange/member"
	"pingpost/exchange/statement"
	"pingpost/keys/token"
	"pingpost/server/admin"
	"pingpost/server/admin/clusterapi"
)

// Ready returns nil if the exchange accepts requests, or the reason why it does not.
func (x *Exchange) Ready() error {
	switch {
	case x.draining.Load():
		return errDraining
	case !x.ready.Load(): // no other field of x may be read before ready is set
		return errStarting
	case x.log.Err() != nil:
		return errLogFailed
	case !x.deciding.Load():
		return errNotDeciding
	}
	return nil
}

// AcceptsRequests returns nil if the exchange decides about requests or, on a follower, forwards them to a
// leader. Otherwise it returns the reason.
func (x *Exchange) AcceptsRequests() error {
	err := x.Ready()
	if errors.Is(err, errNotDeciding) && x.isClustered() {
		switch m := x.cluster.member.Load(); {
		case m != nil && !m.IsMember():
			return errNoMember
		case x.currentLeader().ID == "":
			return errNoLeader
		}
		return nil
	}
	return err
}

// EngineWhileReady returns the engine. It returns nil until the log is replayed, and again once the
// exchange begins to stop, and on a node of a cluster that is not the leader. After a failure of the log it still returns the engine, although Ready
// returns an error.
func (x *Exchange) EngineWhileReady() *engine.Engine {
	if !x.ready.Load() || x.draining.Load() || !x.deciding.Load() {
		return nil
	}
	return x.engine.Load()
}

// StateHash returns a hash of the whole state and the number of the log entry to which it belongs.
// In a single node it runs between two batches of the log, and in a cluster under the state's lock, so that
// no event changes the state meanwhile.
func (x *Exchange) StateHash() (seq, hash uint64, err error) {
	if err := x.Ready(); err != nil {
		return 0, 0, err
	}
	if x.replica != nil {
		seq, hash = x.state.Hash()
		return seq, hash, nil
	}
	err = x.log.RunBetweenBatches(func(uint64, int64) { seq, hash = x.state.Hash() })
	return seq, hash, err
}

// ProcessStatus returns the tenant, the version, the start time, the last log entry and the free
// disk space, for the admin API.
func (x *Exchange) ProcessStatus() admin.ProcessStatus {
	seq, _ := x.log.LastEntry()
	return admin.ProcessStatus{Tenant: x.settings.Tenant, Version: x.options.Version, Since: x.started, Seq: seq, DiskFree: x.disk.free.Load(), Zone: x.zone}
}

// Cluster returns the controller of the cluster, or of a single node. The last entry is zero until the log
// has been replayed.
func (x *Exchange) Cluster() clusterapi.Controller {
	if x.isClustered() {
		if m := x.cluster.member.Load(); m != nil {
			return m
		}
		return member.Starting{Node: x.settings.Cluster.Node}
	}
	return clusterapi.Single{LastEntry: func() (seq uint64) {
		if x.ready.Load() { // x.log is not set before
			seq, _ = x.log.LastEntry()
		}
		return seq
	}}
}

// Now returns the time of the exchange's clock.
func (x *Exchange) Now() int64 { return x.clock.Now() }

// Seal encrypts a secret that the exchange must read again: for example a buyer's credential, a webhook
// secret, or an operator's second factor. secretName becomes part of the encryption, so the value
// decrypts only under the same name.
func (x *Exchange) Seal(secretName, value string) []byte {
	return x.vault.SealSecret(secretName, value)
}

// Unseal decrypts a value that Seal encrypted under the same name. ok is false for another key, another
// name, or damaged data.
func (x *Exchange) Unseal(name string, sealed []byte) (value string, ok bool) {
	value, err := x.vault.OpenSecret(name, sealed)
	return value, err == nil
}

// CredentialHasher returns the issuer that creates and hashes the credentials with which callers
// authenticate to the exchange.
func (x *Exchange) CredentialHasher() *token.Issuer { return x.tokens }

// IsSandbox reports whether the exchange is a sandbox.
func (x *Exchange) IsSandbox() bool { return x.settings.Sandbox }

// Statement returns a party's account statement: see statement.Reader.
func (x *Exchange) Statement(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	return x.newStatementReader().Statement(party, period)
}

// Entries returns an iterator that reads the entries of the statement s from the log. The
// caller closes it.
func (x *Exchange) Entries(s *ledger.Statement) (admin.StatementEntryIterator, error) {
	entries, err := x.newStatementReader().IterateEntries(s)
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func (x *Exchange) newStatementReader() *statement.Reader {
	return statement.NewReader(statement.Options{Log: x.log, State: x.state, Now: x.clock.Now, Zone: x.zone, Stop: &x.draining})
}

func (x *Exchange) newExplainer() (*explain.Explainer, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	engine := x.engine.Load()
	return explain.New(explain.Options{
		Log: x.log, State: x.state, AuctionName: engine.ComputeSellerAuctionName, Contact: engine.DecryptContact,
		DataDir: x.settings.DataDir, ActiveCatalog: engine.ActiveCatalogOrNil,
		OnList: engine.FindOnSuppressionList, EarlierLead: engine.FindEarlierDuplicateLead,
	}), nil
}

// ExplainLead returns the course of a lead as JSON for the admin API: see explain.Explanation.
// The error is engine.ErrNotFound if the log no longer has the lead, or never had it.
func (x *Exchange) ExplainLead(id market.LeadID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.ExplainLead(id) })
}

// ExplainAuction returns the course of an auction as JSON. If the auction was held for an
// ingested lead, it returns the explanation of that lead.
func (x *Exchange) ExplainAuction(id market.AuctionID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.ExplainAuction(id) })
}

// ExplainRequest returns, as JSON, the lead or auction that a request to the exchange caused.
// id is the request id that every HTTP answer carries.
func (x *Exchange) ExplainRequest(id market.RequestID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.ExplainRequest(id) })
}

// ExplainBySellersAuctionID returns, as JSON, the course of the auction to which a seller gave the id
// sellersAuctionID. An empty supplier stands for all suppliers. If several of them used the id, the
// error is a *admin.AmbiguousAuctionSupplierError.
func (x *Exchange) ExplainBySellersAuctionID(supplier, sellersAuctionID string) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) {
		return e.ExplainBySellersAuctionID(supplier, sellersAuctionID)
	})
}

func (x *Exchange) explainJSON(lookUp func(*explain.Explainer) (*explain.Explanation, error)) ([]byte, error) {
	e, err := x.newExplainer()
	if err != nil {
		return nil, err
	}
	explanation, err := lookUp(e)
	if err != nil {
		return nil, err
	}
	return explanation.JSON()
}

// countRunningDeliveries returns the number of running deliveries. A follower has none.
func (x *Exchange) countRunningDeliveries() int64 {
	if e := x.engine.Load(); e != nil {
		return e.RunningDeliveries()
	}
	return 0
}
