package exchange

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"pingpost/config"
	"pingpost/server/certificate"
)

// certificates are those of the two addresses.
type certificates struct{ public, private shown }

// shown is what one address shows; without a pair it speaks plain HTTP.
type shown struct {
	pair  *certificate.Pair
	again chan struct{} // has the files looked at now
}

// config is for the address's listener; nil: it speaks plain HTTP.
func (s *shown) config() *tls.Config {
	if s.pair == nil {
		return nil
	}
	return s.pair.Config()
}

// look has the files of both looked at soon.
func (c *certificates) look() {
	for _, s := range [...]*shown{&c.public, &c.private} {
		select {
		case s.again <- struct{}{}:
		default: // a look is due, or there is nobody to look
		}
	}
}

// openCertificates reads both before anything is bound, so that a wrong one is told
// early.
func (x *Exchange) openCertificates() (err error) {
	x.certificates.public, err = openCertificate("tls", x.settings.TLS)
	if err != nil {
		return err
	}
	x.certificates.private, err = openCertificate("admin.tls", x.settings.AdminTLS)
	return err
}

func openCertificate(key string, files config.TLSSettings) (shown, error) {
	if !files.IsSet() {
		return shown{}, nil
	}
	pair, err := certificate.Open(certificate.Files(files))
	if err != nil {
		return shown{}, fmt.Errorf("%s: %w", key, err)
	}
	return shown{pair, make(chan struct{}, 1)}, nil
}

// CheckCertificates sees that the files which a document names are there and belong
// together, and have not run out.
func CheckCertificates(settings *config.Settings) (err error) {
	for key, files := range map[string]config.TLSSettings{"tls": settings.TLS, "admin.tls": settings.AdminTLS} {
		one, wrong := openCertificate(key, files)
		if wrong == nil && one.pair != nil && !time.Now().Before(one.pair.NotAfter()) {
			wrong = fmt.Errorf("%s: the certificate has run out at %s", key, one.pair.NotAfter().UTC().Format(time.RFC3339))
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// watchCertificates keeps what is shown in step with its files.
func (x *Exchange) watchCertificates() {
	for address, s := range map[string]*shown{"listen": &x.certificates.public, "admin": &x.certificates.private} {
		if s.pair == nil {
			continue
		}
		x.meter.Gauge(`pingpost_tls_not_after_timestamp_seconds{address="`+address+`"}`, func() float64 { return float64(s.pair.NotAfter().Unix()) })
		go certificate.NewWatcher(s.pair, x.logger.With("address", address)).Run(s.again, x.gone)
	}
}
