package chain_test

import (
	"os"
	"testing"

	"pingpost/api/contract"
)

func TestMain(m *testing.M) { os.Exit(contract.RunTests(m)) }
