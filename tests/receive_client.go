// receive_client.go URL PROTOCOL: sends profiles of itself as a Pyroscope SDK for Go does: to /ingest as a form, with what runtime/pprof wrote, or to
// the push API as protobuf, by hand. PROTOCOL: ingest, push. The token is in $CLEAR_HTTP_TOKEN. Prints the sums of what it sent.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"
)

var kept [][]byte

//go:noinline
func keepsMemory(count int) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

// Of the process, which on a busy machine is not that of a clock.
func cpuTime() time.Duration {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

//go:noinline
func burnsTime(until time.Duration) (sum int) {
	for cpuTime() < until {
		for i := 0; i < 1000000; i++ {
			sum += i * i
		}
	}
	return
}

// Until it has waited, and both profiles say so.
//
//go:noinline
func waitsForLock() {
	for {
		var lock sync.Mutex
		lock.Lock()
		go func() { time.Sleep(20 * time.Millisecond); lock.Unlock() }()
		lock.Lock()
		mutexes, _ := runtime.MutexProfile(nil)
		blocks, _ := runtime.BlockProfile(nil)
		if mutexes > 0 && blocks > 0 {
			return
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func lookup(name string) []byte {
	var out bytes.Buffer
	check(pprof.Lookup(name).WriteTo(&out, 0))
	return out.Bytes()
}

func post(place, contentType string, body []byte) {
	request, err := http.NewRequest("POST", os.Args[1]+place, bytes.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("CLEAR_HTTP_TOKEN"))
	answer, err := http.DefaultClient.Do(request)
	check(err)
	text, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != 200 {
		check(fmt.Errorf("%s: %s: %s", place, answer.Status, text))
	}
}

func ingest(profile []byte, from, until time.Time, types string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("profile", "profile.pprof")
	check(err)
	part.Write(profile)
	if types != "" {
		part, err = form.CreateFormFile("sample_type_config", "sample_type_config.json")
		check(err)
		part.Write([]byte(types))
	}
	form.Close()
	query := url.Values{"name": {"go.app{hostname=box,region=eu}"}, "from": {strconv.FormatInt(from.UnixNano(), 10)},
		"until": {strconv.FormatInt(until.UnixNano(), 10)}, "spyName": {"gospy"}, "sampleRate": {"100"}, "units": {"samples"}, "aggregationType": {"sum"}}
	post("/ingest?"+query.Encode(), form.FormDataContentType(), body.Bytes())
}

func field(number int, bytes []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(number<<3|2))
	return append(binary.AppendUvarint(out, uint64(len(bytes))), bytes...)
}

func series(name string, profile []byte) (out []byte) {
	for _, label := range [][2]string{{"__name__", name}, {"service_name", "go.push"}, {"hostname", "box"}, {"__session_id__", "1"}} {
		out = append(out, field(1, append(field(1, []byte(label[0])), field(2, []byte(label[1]))...))...)
	}
	return field(1, append(out, field(2, field(1, profile))...))
}

func main() {
	var cpu bytes.Buffer
	runtime.MemProfileRate = 1 // every allocation
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	from := time.Now()
	check(pprof.StartCPUProfile(&cpu))
	burnsTime(cpuTime() + 300*time.Millisecond)
	pprof.StopCPUProfile()
	waitsForLock()
	keepsMemory(8)
	runtime.GC()
	first := lookup("heap")
	keepsMemory(4)
	runtime.GC()
	second := lookup("heap")
	until := time.Now()
	if os.Args[2] == "ingest" {
		ingest(cpu.Bytes(), from, until, "")
		ingest(first, from, until, "")
		ingest(second, from, until, "")
		ingest(lookup("mutex"), from, until, `{"contentions":{"display-name":"mutex_count"},"delay":{"display-name":"mutex_duration"}}`)
		ingest(lookup("block"), from, until, `{"contentions":{"display-name":"block_count"},"delay":{"display-name":"block_duration"}}`)
		ingest(lookup("goroutine"), from, until, "")
		ingest(lookup("goroutine"), from, until, "")
	} else {
		body := append(series("process_cpu", cpu.Bytes()), series("memory", first)...)
		body = append(body, append(series("mutex", lookup("mutex")), series("block", lookup("block"))...)...)
		post("/push.v1.PusherService/Push", "application/proto", body)
	}
	fmt.Println(len(kept))
}
