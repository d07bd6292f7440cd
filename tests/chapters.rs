//! The numbers that chapters quote, each computed here and held by a snapshot.

mod ch01;
mod ch02;
mod ch03;
mod ch04;
mod ch05;
mod ch06;
mod ch07;
mod ch08;
mod ch09;
mod ch10;
mod ch11;
mod ch12;
mod ch13;
mod ch14;
mod ch15;
mod ch17;
mod ch18;
mod ch19;
mod ch20;
mod text;
