package exchange

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"pingpost/config"
	"pingpost/server/certificate"
)

// certificates holds the TLS certificates of the exchange's two listeners: the public address
// and the admin address.
type certificates struct{ public, admin addressCertificate }

// addressCertificate is the TLS certificate of one listener. If pair is nil, no certificate is
// configured, and the listener speaks plain HTTP.
type addressCertificate struct {
	pair    *certificate.KeyPair
	recheck chan struct{} // makes the watcher check the files now
}

// tlsConfig returns the TLS configuration of the address's listener, or nil for plain HTTP.
func (s *addressCertificate) tlsConfig() *tls.Config {
	if s.pair == nil {
		return nil
	}
	return s.pair.TLSConfig()
}

// recheckFilesSoon makes the background watchers of both certificates look for changed files
// now, instead of at their next interval. A reload calls it. It does not wait.
func (c *certificates) recheckFilesSoon() {
	for _, s := range [...]*addressCertificate{&c.public, &c.admin} {
		select {
		case s.recheck <- struct{}{}:
		default: // a check is pending already, or there is no watcher
		}
	}
}

// loadCertificates reads the certificates of the public and the admin address. It runs before
// the exchange listens, so that an unusable file fails the start early.
func (x *Exchange) loadCertificates() (err error) {
	x.certificates.public, err = loadCertificate("tls", x.settings.TLS)
	if err != nil {
		return err
	}
	x.certificates.admin, err = loadCertificate("admin.tls", x.settings.AdminTLS)
	return err
}

func loadCertificate(key string, files config.TLSSettings) (addressCertificate, error) {
	if !files.IsSet() {
		return addressCertificate{}, nil
	}
	pair, err := certificate.LoadPair(certificate.Files(files))
	if err != nil {
		return addressCertificate{}, fmt.Errorf("%s: %w", key, err)
	}
	return addressCertificate{pair, make(chan struct{}, 1)}, nil
}

// CheckCertificates checks that the certificate files of a configuration exist, match each
// other and have not expired.
func CheckCertificates(settings *config.Settings) (err error) {
	for key, files := range map[string]config.TLSSettings{"tls": settings.TLS, "admin.tls": settings.AdminTLS} {
		one, wrong := loadCertificate(key, files)
		if wrong == nil && one.pair != nil && !time.Now().Before(one.pair.NotAfter()) {
			wrong = fmt.Errorf("%s: the certificate expired at %s; renew it", key, one.pair.NotAfter().UTC().Format(time.RFC3339))
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// watchCertificates starts a background watcher for each configured certificate, which reloads
// the certificate when its files change. It also registers a metric with the certificate's
// expiry.
func (x *Exchange) watchCertificates() {
	for address, s := range map[string]*addressCertificate{"listen": &x.certificates.public, "admin": &x.certificates.admin} {
		if s.pair == nil {
			continue
		}
		x.meter.AddGauge(`pingpost_tls_not_after_timestamp_seconds{address="`+address+`"}`, func() float64 { return float64(s.pair.NotAfter().Unix()) })
		go certificate.NewWatcher(s.pair, x.logger.With("address", address)).Run(s.recheck, x.ended)
	}
}
