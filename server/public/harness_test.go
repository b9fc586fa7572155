package public

import (
	"strconv"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// Credentials of the tests' suppliers and buyers. No answer may contain them.
const (
	acmeSecret = "canary-secret-of-acme"
	blueSecret = "canary secret of blue: 100% & more +"
	sandboxKey = "canary-token-of-the-sandbox"
)

// testServer is a server with its engine, without a listener.
type testServer struct {
	*Server
	t   testing.TB
	log *servertest.MemoryLog
}

type optionFunc = func(*Options)

var sandbox = func(o *Options) { o.Sandbox = true }

// newTestServer starts an exchange with the supplier acme and the buyer blue, each with an
// OAuth client.
func newTestServer(t testing.TB, tune ...optionFunc) *testServer {
	t.Helper()
	d := &testServer{t: t, log: new(servertest.MemoryLog)}
	d.start(tune...)
	d.addCredential(engine.Credential{Kind: event.CredentialOAuthClient, Owner: event.ObjectSupplier, ID: "sup_acme", Client: "acme", Scopes: event.ScopePing | event.ScopePost}, acmeSecret)
	d.addCredential(engine.Credential{Kind: event.CredentialOAuthClient, Owner: event.ObjectBuyer, ID: "buy_blue", Client: "blue/1", Scopes: event.ScopeWebhook}, blueSecret)
	return d
}

// start starts the server on the events of the log.
func (d *testServer) start(tune ...optionFunc) {
	d.t.Helper()
	d.Server = newServerWith(d.t, "suppliers: [{id: sup_acme}]\nbuyers: [{id: buy_blue}]\n", engine.Options{State: d.log.Replay(d.t), Log: d.log}, tune...)
	d.configure("sup_acme", "buy_blue")
}

// configure applies a catalog of these suppliers and buyers.
func (d *testServer) configure(ids ...string) {
	d.t.Helper()
	catalog := &market.Catalog{Suppliers: map[market.SupplierID]*market.Supplier{}, Buyers: map[market.BuyerID]*market.Buyer{}}
	for _, id := range ids {
		if id[:3] == "sup" {
			catalog.Suppliers[market.SupplierID(id)] = &market.Supplier{ID: market.SupplierID(id), IngestRate: 100}
		} else {
			catalog.Buyers[market.BuyerID(id)] = &market.Buyer{ID: market.BuyerID(id), Zone: time.UTC}
		}
	}
	must.Succeed(d.t, d.engine.Load().Configure(engine.CatalogUpdate{Catalog: catalog, Document: strconv.Itoa(len(ids))}))
	d.SetCatalog(catalog)
}

// addCredential adds a credential with this secret.
func (d *testServer) addCredential(c engine.Credential, secret string) {
	d.t.Helper()
	c.Hash, c.Hint = d.opt.Tokens.HashClientCredentials([]byte(c.Client), []byte(secret)), secret[:3]
	if c.Kind == event.CredentialBearer {
		c.Hash = d.opt.Tokens.HashStaticBearerToken([]byte(secret))
	}
	must.Succeed(d.t, d.engine.Load().AsOperator("").AddCredential(&c))
}

// revokeSecret revokes a secret of a client.
func (d *testServer) revokeSecret(client, secret string) {
	d.t.Helper()
	c, ok := d.engine.Load().State().CredentialByHash(d.opt.Tokens.HashClientCredentials([]byte(client), []byte(secret)))
	if !ok {
		d.t.Fatalf("%s has no such secret", client)
	}
	must.Succeed(d.t, d.engine.Load().AsOperator("").RevokeCredential(&c))
}

// send handles a request without a connection, because waiting for a socket would stop
// virtual time.
func (d *testServer) send(method, path, body string, headers ...string) *fasthttp.RequestCtx {
	d.t.Helper()
	ctx := newRequestCtx(method, path, []byte(body), headers...)
	d.handleRequest(ctx)
	servertest.CheckContextContract(d.t, ctx, []byte(body))
	return ctx
}
