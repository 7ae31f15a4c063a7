// trace_regions COUNT [FILE]: that many regions of runtime/trace around a little work; prints what one takes. With FILE the tracer is on.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/trace"
	"strconv"
	"time"
)

var sink uint64

//go:noinline
func request(context context.Context, seed uint64) {
	defer trace.StartRegion(context, "request").End()
	for i := 0; i < 32; i++ {
		seed = seed*6364136223846793005 + 1
	}
	sink = seed
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	if len(os.Args) > 2 {
		file, err := os.Create(os.Args[2])
		if err != nil {
			panic(err)
		}
		defer file.Close()
		if err := trace.Start(file); err != nil {
			panic(err)
		}
		defer trace.Stop()
	}
	start := time.Now()
	for i := 0; i < count; i++ {
		request(context.Background(), uint64(i))
	}
	fmt.Printf("%.1f ns per region\n", float64(time.Since(start).Nanoseconds())/float64(count))
}
