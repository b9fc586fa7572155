package client

import (
	"fmt"
	"net/http"
	"os"

	"golang.org/x/term"

	"pingpost/cmd/pingpost/terminal"
)

// TokenVariable is the environment variable of a personal API token. There is no flag for
// it: other users of the machine can read a command line.
const TokenVariable = "PINGPOST_ADMIN_TOKEN"

// addOperatorCredential adds the operator's credential to a request. With --user it is that
// account's password, for which it asks at the terminal if it is missing. Otherwise it is the token
// from the environment, or else --password, which must then be the exchange's admin.password.
func (f *AdminFlags) addOperatorCredential(req *http.Request) error {
	token := os.Getenv(TokenVariable)
	switch {
	case f.User != "":
		if err := f.askForMissingPassword(); err != nil {
			return err
		}
		req.SetBasicAuth(f.User, f.Password)
	case token != "":
		req.Header.Set("Authorization", "Bearer "+token)
	default:
		req.SetBasicAuth("operator", f.Password)
	}
	return nil
}

// askForMissingPassword asks at the terminal for the password of --user and stores it, unless a
// flag or the environment has given it.
func (f *AdminFlags) askForMissingPassword() (err error) {
	if f.Password != "" {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return fmt.Errorf("--user %s needs the account's password: set PINGPOST_ADMIN_PASSWORD, or run the command at a terminal", f.User)
	}
	f.Password, err = terminal.ReadLineWithoutEcho(os.Stdin, "Password of "+f.User+" at "+f.Admin+": ")
	return err
}

// explainRejectedCredential returns the remedy after the exchange has answered 401. It names the
// kind of credential that the command sent, and never the credential.
func (f *AdminFlags) explainRejectedCredential() string {
	switch {
	case f.User != "":
		return fmt.Sprintf("The exchange rejected the password of user %s; set the account's password in PINGPOST_ADMIN_PASSWORD", f.User)
	case os.Getenv(TokenVariable) != "":
		return "The exchange rejected the token in " + TokenVariable + "; create a new token, or unset the variable"
	case f.Password == "":
		return "The command sent no credential; set PINGPOST_ADMIN_PASSWORD or " + TokenVariable + ", or give --user or --password"
	}
	return "The exchange rejected the password as its admin.password; correct PINGPOST_ADMIN_PASSWORD or --password, or give --user for an account's password"
}
