// Calls replicas through grpc-go's round_robin while each of them is restarted in turn, and counts the calls that fail:
//
//	drain SECONDS PORT... -- COMMAND...
//
// COMMAND starts a server of gRPC's interoperability tests on the port that is appended as --port=N, and ends after the
// calls under way when it gets SIGTERM.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
)

const callers = 64

// Shorter than the pause between two restarts, so that the client is back at a replica when the next one goes.
var reconnecting = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1, MaxDelay: 50 * time.Millisecond},
	MinConnectTimeout: time.Second,
}

const pause = 700 * time.Millisecond

func fail(text string, values ...any) {
	fmt.Fprintf(os.Stderr, "drain: "+text+"\n", values...)
	os.Exit(1)
}

func start(command []string, port string) *exec.Cmd {
	server := exec.Command(command[0], append(command[1:], "--port="+port)...)
	if err := server.Start(); err != nil {
		fail("%v", err)
	}
	for i := 0; i < 300; i++ {
		if socket, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			socket.Close()
			return server
		}
		time.Sleep(20 * time.Millisecond)
	}
	fail("no server listens on port %s", port)
	return nil
}

func main() {
	seconds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fail("%v", err)
	}
	var ports, command []string
	for i, word := range os.Args[2:] {
		if word == "--" {
			command = os.Args[i+3:]
			break
		}
		ports = append(ports, word)
	}
	var servers []*exec.Cmd
	var addresses []resolver.Address
	for _, port := range ports {
		servers = append(servers, start(command, port))
		addresses = append(addresses, resolver.Address{Addr: "127.0.0.1:" + port})
	}
	name := manual.NewBuilderWithScheme("replicas")
	name.InitialState(resolver.State{Addresses: addresses})
	channel, err := grpc.Dial("replicas:///all", grpc.WithResolvers(name),
		grpc.WithInsecure(), grpc.WithConnectParams(reconnecting),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`))
	if err != nil {
		fail("%v", err)
	}
	client := testgrpc.NewTestServiceClient(channel)
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var answered, failed int64
	var waiting sync.WaitGroup
	for i := 0; i < callers; i++ {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			for time.Now().Before(end) {
				limited, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				_, err := client.EmptyCall(limited, &testgrpc.Empty{})
				cancel()
				if err == nil {
					atomic.AddInt64(&answered, 1)
				} else if atomic.AddInt64(&failed, 1) <= 5 {
					fmt.Fprintln(os.Stderr, "drain:", err)
				}
			}
		}()
	}
	restarts := 0
	for time.Now().Before(end) {
		time.Sleep(pause)
		victim := restarts % len(servers)
		servers[victim].Process.Signal(syscall.SIGTERM)
		if err := servers[victim].Wait(); err != nil {
			fail("the server on port %s ended with %v", ports[victim], err)
		}
		servers[victim] = start(command, ports[victim])
		restarts++
	}
	waiting.Wait()
	for _, server := range servers {
		server.Process.Kill()
	}
	fmt.Printf("%d calls, %d restarts, %d failed\n", answered, restarts, failed)
	if failed > 0 || answered == 0 {
		os.Exit(1)
	}
}
