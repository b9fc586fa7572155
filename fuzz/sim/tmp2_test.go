package sim
import ("testing";"os";"strconv";"time")
func TestTmp2(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SIM_SEED"), 10, 64)
	days, _ := strconv.Atoi(os.Getenv("SIM_DAYS"))
	n, _ := strconv.Atoi(os.Getenv("SIM_N"))
	for s := seed; s < seed+uint64(max(n,1)); s++ {
	h := generate(s, days)
	at := time.Now()
	f, span := run(t, h)
	t.Log(s, len(h), time.Since(at), span, f)
	if f != "" { t.Fail()
	 os.WriteFile("/tmp/sim-h.txt", []byte(printHistory(h)), 0o600) 
	 if n == 0 { break } }
	}
}
