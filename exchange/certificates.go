package exchange

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"pingpost/config"
	"pingpost/exchange/member"
	"pingpost/server/certificate"
)

// listenerCertificates holds the TLS certificates of the exchange's two listeners: the public address
// and the admin address.
type listenerCertificates struct{ public, admin listenerCertificate }

// listenerCertificate is the TLS certificate of one listener. If pair is nil, no certificate is
// configured, and the listener speaks plain HTTP.
type listenerCertificate struct {
	pair    *certificate.KeyPair
	recheck chan struct{} // makes the watcher check the files now
}

// tlsConfigOrNil returns the TLS configuration of the address's listener, or nil for plain HTTP.
func (s *listenerCertificate) tlsConfigOrNil() *tls.Config {
	if s.pair == nil {
		return nil
	}
	return s.pair.TLSConfig()
}

// requestFileCheck makes the background watchers of both certificates look for changed files
// now, instead of at their next interval. A reload calls it. It does not wait.
func (c *listenerCertificates) requestFileCheck() {
	for _, s := range [...]*listenerCertificate{&c.public, &c.admin} {
		select {
		case s.recheck <- struct{}{}:
		default: // a check is pending already, or there is no watcher
		}
	}
}

// loadCertificates reads the certificates of the public and the admin address. It runs before
// the exchange listens, so that an unusable file fails the start early.
func (x *Exchange) loadCertificates() (err error) {
	x.certificates.public, err = loadCertificateIfSet("tls", x.settings.TLS)
	if err != nil {
		return err
	}
	x.certificates.admin, err = loadCertificateIfSet("admin.tls", x.settings.AdminTLS)
	return err
}

func loadCertificateIfSet(settingName string, files config.TLSSettings) (listenerCertificate, error) {
	if !files.IsSet() {
		return listenerCertificate{}, nil
	}
	pair, err := certificate.LoadPair(certificate.KeyPairPaths(files))
	if err != nil {
		return listenerCertificate{}, fmt.Errorf("%s: %w", settingName, err)
	}
	return listenerCertificate{pair, make(chan struct{}, 1)}, nil
}

// CheckCertificateFiles checks that the certificate files of a configuration exist, match each
// other and have not expired.
func CheckCertificateFiles(settings *config.Settings) (err error) {
	for key, files := range map[string]config.TLSSettings{"tls": settings.TLS, "admin.tls": settings.AdminTLS} {
		one, wrong := loadCertificateIfSet(key, files)
		if wrong == nil && one.pair != nil && !time.Now().Before(one.pair.NotAfter()) {
			wrong = fmt.Errorf("%s: the certificate expired at %s; renew it", key, one.pair.NotAfter().UTC().Format(time.RFC3339))
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// CheckClusterCertificateFiles checks the files of cluster.tls, if they are configured. A file that cannot be
// read is only a warning, because the machine that checks a configuration may not have the node's files.
func CheckClusterCertificateFiles(settings *config.Settings) (warning, err error) {
	files := settings.Cluster.TLS
	if !files.IsSet() {
		return nil, nil
	}
	loaded, err := member.LoadTLS(files.CertFile, files.KeyFile, files.AuthorityFile)
	var unreadable *fs.PathError
	switch {
	case errors.As(err, &unreadable):
		return fmt.Errorf("%w; the node needs the file at its start", err), nil
	case err == nil && !time.Now().Before(loaded.Certificates[0].Leaf.NotAfter):
		err = fmt.Errorf("cluster.tls: the certificate expired at %s; renew it", loaded.Certificates[0].Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil, err
}

// startCertificateWatchers starts a background watcher for each configured certificate, which reloads
// the certificate when its files change. It also registers a metric with the certificate's
// expiry.
func (x *Exchange) startCertificateWatchers() {
	for address, s := range map[string]*listenerCertificate{"listen": &x.certificates.public, "admin": &x.certificates.admin} {
		if s.pair == nil {
			continue
		}
		x.meter.AddGauge(`pingpost_tls_not_after_timestamp_seconds{address="`+address+`"}`, func() float64 { return float64(s.pair.NotAfter().Unix()) })
		go certificate.NewWatcher(s.pair, x.logger.With("address", address)).Run(s.recheck, x.ended)
	}
}
