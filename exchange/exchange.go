// Package exchange assembles one running exchange (a tenant): its configuration, the log,
// the state replayed from it, the engine, the listeners and the background tasks. Only
// this package knows all of them, and it makes no decision about leads.
//
// A process may run several exchanges, one per tenant. They share no data.
package exchange

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/state"
	"pingpost/exchange/coldfiles"
	"pingpost/internal/clock"
	"pingpost/internal/trace"
	"pingpost/keys/leadkeys"
	"pingpost/keys/token"
	"pingpost/keys/vault"
	"pingpost/outbound/buyer"
	"pingpost/outbound/webhook"
	"pingpost/server/admin"
	"pingpost/server/instructions"
	"pingpost/server/metrics"
	"pingpost/server/public"
	"pingpost/wal"
	"pingpost/wal/backup"
)

// Options of an exchange.
type Options struct {
	Env         func(string) (string, bool)
	Logger      *slog.Logger
	Version     string // of the program, shown to operators
	AcceptClock bool   // start even if the clock is far from the time of the log's last entry
	// Backup returns the backup options of a tenant. Nil disables backups while serving.
	Backup func(tenant string) (backup.Options, error)

	clusterHeartbeatTimeout time.Duration // 0: the default; tests need a longer one
}

// Exchange is one running tenant.
//
// Start binds both addresses at once, so that a wrong address fails early. The exchange
// accepts requests only after the log is replayed. Until then the admin address answers
// that the exchange is not ready.
type Exchange struct {
	path    string // of the configuration
	options Options
	logger  *slog.Logger
	clock   *clock.Clock
	meter   *metrics.Meter

	settings      config.Settings
	zone          *time.Location // in which days begin in reports
	vault         *vault.Vault
	keys          *leadkeys.KeyStore
	keyCheck      leadKeyLossCheck
	tokens        *token.Issuer
	instructions  *instructions.Publisher
	log           *wal.Log
	replica       *wal.Replica // log, in a cluster; otherwise nil
	state         *state.State
	cold          *coldfiles.Folder             // snapshots.writing guards it
	engine        atomic.Pointer[engine.Engine] // of the present or last time in which this node decides
	deciding      atomic.Bool                   // this node decides about requests; a follower does not
	cluster       clusterMembership             // zero: a single node
	buyers        *buyer.Client
	webhookClient *webhook.Client
	webhookSender *webhook.Sender
	publicServer  *public.Server
	adminServer   *admin.Admin

	configMu sync.Mutex // held from reading the active configuration until the change is active
	// comparedFile describes the configuration file that ConfigDrift last read; nil: none. configMu guards it.
	comparedFile fs.FileInfo
	active       atomic.Pointer[activeConfigWithSources]
	built        atomic.Pointer[config.CompiledDocument] // the configuration file as it was read last
	lists        suppressionTableCache

	publicListener, adminListener net.Listener
	certificates                  listenerCertificates
	ready                         atomic.Bool
	draining                      atomic.Bool
	disk                          diskMonitor
	snapshots                     snapshotter
	lastUses                      credentialLastUsesFile
	backupRunner                  backupRunner
	reporter                      backgroundReportBuilder
	alerts                        alertRunner
	reportMail                    reportMailRunner
	tracer                        *trace.Tracer // nil disables tracing
	eraseTimeout                  time.Duration
	webhookAttemptTimeout         time.Duration // 0: the sender's default
	started                       time.Time
	broken                        chan error    // receives an error if the exchange cannot continue: its log or a listener failed
	ended                         chan struct{} // closed when the exchange has ended
	serving                       sync.WaitGroup
}

var (
	errStarting  = errors.New("starting: the log is being replayed")
	errDraining  = errors.New("stopping: waiting for the requests in flight")
	errLogFailed = errors.New("the log has failed")
	// The reasons why a node of a cluster accepts no requests, or does not decide about them.
	errNoMember    = errors.New("this node is no member of the cluster; add it with pingpost cluster add")
	errNoLeader    = errors.New("the cluster has no leader at present")
	errNotDeciding = errors.New("this node of the cluster is not the leader")
)

// Start reads the configuration file at configPath, opens its data directory, replays the log and
// begins to serve. After an error it has closed everything that it opened.
func Start(configPath string, opt Options) (*Exchange, error) {
	built, err := loadConfiguration(configPath, opt.Env)
	if err != nil {
		return nil, err
	}
	x := newExchange(configPath, opt, built)
	if err := x.startConfigured(built); err != nil {
		return nil, err
	}
	return x, nil
}

// startConfigured opens the data directory of a new exchange and begins to serve. The admin address
// answers first, so that an operator can watch the replay of the log. After an error it closes
// everything that it opened.
func (x *Exchange) startConfigured(built *config.CompiledDocument) error {
	if err := x.openListenersAndServeAdmin(); err != nil {
		return err
	}
	if err := x.prepareToServePublic(built); err != nil {
		return errors.Join(err, x.Close())
	}
	x.markReadyAndServePublic()
	return nil
}

func newExchange(path string, opt Options, built *config.CompiledDocument) *Exchange {
	x := &Exchange{
		started: time.Now(), path: path, options: opt, settings: built.Settings, zone: built.Settings.ReportZone(), clock: clock.New(),
		logger: opt.Logger.With("tenant", built.Settings.Tenant), broken: make(chan error, 4), ended: make(chan struct{}),
		snapshots: snapshotter{minBytes: snapshotBytes, interval: snapshotInterval}, eraseTimeout: eraseTimeout,
		backupRunner: backupRunner{backupTimeouts: backupTimeouts{backupStartTimeout, backupFlushTimeout}},
	}
	x.cluster.forwarder, x.cluster.joined = x.newForwarder(), make(chan struct{})
	x.meter = metrics.NewMeter(func(message string, err error) {
		x.logger.Error(message, "error", err)
	})
	return x
}

// markReadyAndServePublic marks the exchange as ready and begins to accept requests at the public
// address. It is the last step of a start.
func (x *Exchange) markReadyAndServePublic() {
	x.ready.Store(true)
	x.startCertificateWatchers()
	x.serveInBackground("public", x.publicListener, x.publicServer.Serve)
	x.logger.Info("serving", "listen", x.publicListener.Addr().String(), "admin", x.adminListener.Addr().String(), "leads", x.state.LeadCountWithExpired())
	x.logger.Info("dashboard", "url", x.adminListenerURL(), "sign_in", x.describeSignIn())
}

func (x *Exchange) adminListenerURL() string {
	scheme := "http"
	if x.certificates.admin.tlsConfigOrNil() != nil {
		scheme = "https"
	}
	return scheme + "://" + x.adminListener.Addr().String() + "/"
}

// describeSignIn says how an operator can sign in to the dashboard.
func (x *Exchange) describeSignIn() string {
	var ways []string
	if x.settings.OIDC.Issuer != "" {
		ways = append(ways, "at the identity provider of admin.oidc")
	}
	if len(x.state.OperatorUsers()) > 0 {
		ways = append(ways, "with an account")
	}
	if x.settings.AdminPassword.IsGivenOrDeclared() {
		ways = append(ways, "with any user name and the password of admin.password")
	}
	if len(ways) == 0 {
		return "not possible: there is no account yet, and admin.password is not set; set it, and restart the exchange"
	}
	return strings.Join(ways, ", or ")
}

// loadConfiguration reads and compiles the configuration file at path. It returns an error if a
// setting of the process refers to an environment variable that lookUpEnv does not have.
func loadConfiguration(path string, lookUpEnv func(string) (string, bool)) (*config.CompiledDocument, error) {
	source, err := config.LoadAllowingUnsetVariables(path, lookUpEnv)
	if err != nil {
		return nil, err
	}
	built, err := source.Compile()
	if err != nil {
		return nil, err
	}
	if err := built.UnsetSettingVariablesError(); err != nil {
		return nil, err
	}
	return built, nil
}

// openListenersAndServeAdmin opens the public and the admin listener, and begins to serve the admin
// address. The public address is served only after the replay of the log.
func (x *Exchange) openListenersAndServeAdmin() (err error) {
	if err := x.loadCertificates(); err != nil {
		return err
	}
	if x.publicListener, err = net.Listen("tcp", x.settings.Listen); err != nil {
		return errors.Join(errors.New("cannot listen for requests; choose another address in listen"), err)
	}
	if x.adminListener, err = net.Listen("tcp", x.settings.AdminListen); err != nil {
		return errors.Join(errors.New("cannot listen for the operator; choose another address in admin.listen"), err, x.publicListener.Close())
	}
	x.adminServer = admin.New(x, x.meter, x.settings.AdminPassword.Reveal(), x.logger)
	x.adminServer.SetPublicURL(x.settings.AdminPublicURL)
	x.adminServer.SetSignIn(x.settings.RequireTOTP, newIdentityProvider(&x.settings, x.logger))
	x.adminServer.SetTLS(x.certificates.admin.tlsConfigOrNil())
	x.adminServer.SetMaxHeader(x.settings.Limits.Header)
	x.adminServer.SetTrustedProxies(x.settings.TrustedProxies)
	x.setAdminCluster()
	x.serveInBackground("admin", x.adminListener, x.adminServer.Serve)
	return nil
}

// serveInBackground runs serve on the listener in a goroutine. If serve fails before the
// exchange stops, the goroutine sends the error to x.broken, and the caller of Start then closes
// the exchange. addressName names the address in that error.
func (x *Exchange) serveInBackground(addressName string, listener net.Listener, serve func(net.Listener) error) {
	x.serving.Add(1)
	go func() {
		defer x.serving.Done()
		if err := serve(listener); err != nil && !x.draining.Load() {
			x.broken <- fmt.Errorf("the exchange no longer serves its %s address, and stops: %w", addressName, err)
		}
	}()
}

// PublicAddress returns the address on which the exchange listens for suppliers and buyers.
// AdminAddress returns the address for operators.
func (x *Exchange) PublicAddress() string { return x.publicListener.Addr().String() }
func (x *Exchange) AdminAddress() string  { return x.adminListener.Addr().String() }

// FatalErrors returns a channel that receives an error if the exchange cannot continue, because its
// log or a listener failed. The caller then closes the exchange.
func (x *Exchange) FatalErrors() <-chan error { return x.broken }
