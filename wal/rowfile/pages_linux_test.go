package rowfile

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"pingpost/internal/must"
)

func TestAdviceOnHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this system has no huge pages")
	}
	memory := make([]uint16, 3*hugePageBytes)
	middle := uintptr(unsafe.Pointer(&memory[len(memory)/2]))
	useHugePages(memory)
	if flags := flagsOfMapping(t, middle); !strings.Contains(flags, " hg") {
		t.Errorf("the flags are %q", flags)
	}
	useSmallPages(memory)
	if flags := flagsOfMapping(t, middle); strings.Contains(flags, " hg") {
		t.Errorf("afterwards the flags are %q", flags)
	}
	useHugePages(nil)
	useHugePages(memory[1:100])
	if flags := flagsOfMapping(t, middle); strings.Contains(flags, " hg") {
		t.Errorf("after advice on less than a page, the flags are %q", flags)
	}
	memory[0] = 1 // the memory is in use until here
}

// flagsOfMapping returns the kernel's flags of the mapping with an address.
func flagsOfMapping(t *testing.T, address uintptr) (flags string) {
	smaps := must.Value(os.Open("/proc/self/smaps"))(t)
	defer smaps.Close()
	isMapping := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var begin, end uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &begin, &end); n == 2 {
			isMapping = begin <= address && address < end
		}
		if text, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && isMapping {
			return text
		}
	}
	t.Fatal("the memory is in no mapping")
	return ""
}
